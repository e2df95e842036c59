"""The commands of `embermem`, each a function that parses, calls and shows; `cli` puts them together."""
