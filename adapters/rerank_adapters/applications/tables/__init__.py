"""Shows, joins and cuts feature tables, and makes them from scores computed elsewhere."""
