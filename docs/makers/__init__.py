"""What makes pages, parts of pages and pictures out of the running code and of committed figures."""
