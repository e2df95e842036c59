"""Where lines, bars, boxes and dots stand."""
