"""What tests of several files share. Nothing here is a test."""
