"""Ways to use Ember from outside Python: they parse, call and show."""
