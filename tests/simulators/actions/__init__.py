"""A stand-in for GitHub Actions: it runs the workflows of a repository as written."""
