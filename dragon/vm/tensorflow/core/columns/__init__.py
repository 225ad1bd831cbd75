"""Feature columns: how what a table holds becomes what a net takes."""
