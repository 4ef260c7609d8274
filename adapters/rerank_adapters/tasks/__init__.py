"""Jobs that users have, each a composition of the steps below."""
