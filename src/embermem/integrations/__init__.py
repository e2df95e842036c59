"""Ember inside agent frameworks: one module for each, by an extra of the same name.

An adapter maps a framework's types to public calls of a memory and back; it decides nothing about memory.
"""
