"""Feature tables as things to work with: joined, cut, shown, and made from scores computed elsewhere."""
