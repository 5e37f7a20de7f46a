"""Chrome Trace Event files: read in every form, combined, summarised, converted."""
