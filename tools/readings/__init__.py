"""What a reading is, and how small files of the kernel are read."""
