"""Formats of files and messages: records, protocol buffers, events, pictures, sounds."""
