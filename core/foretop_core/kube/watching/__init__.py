"""How objects come in: a list and then a watch for each kind and place, again and again."""
