"""Tools that go with layers."""
