"""Faces of other memory libraries over Ember: a program that was written for one of them changes its import."""
