"""Files on disk, whatever is in them: streams, outputs that appear whole, checksums, checked content."""
