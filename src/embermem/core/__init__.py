"""The words of Ember, its formulas, numbers and errors: what every other part knows. It imports none of them."""
