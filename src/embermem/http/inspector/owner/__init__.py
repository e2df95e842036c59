"""The pages of one owner's memory."""
