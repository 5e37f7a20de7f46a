"""What lives in git: readers, manifests, specs, columns and trust, without I/O."""
