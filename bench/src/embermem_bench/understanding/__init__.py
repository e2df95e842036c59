"""`embermem bench understanding`: what a memory understood, on the public API only.

`rows` names the figures and defines them, `measures` computes them, `run` stores the conversations and asks the
questions, `sheet` writes facts for a person to judge and reads the judgements.
"""
