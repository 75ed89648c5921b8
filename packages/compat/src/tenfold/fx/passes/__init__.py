"""Programs that go over a graph."""
