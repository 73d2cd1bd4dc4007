"""What tools/site makes pages of: hand-written pages and READMEs, schemas, catalogues, commands, headers."""
