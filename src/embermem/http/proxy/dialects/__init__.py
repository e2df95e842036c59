"""The protocols that the proxy speaks, one file each; `dialect` has the shape that they share."""
