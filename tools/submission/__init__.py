"""From a signed bundle in a checkout to a pull request."""
