"""What commands are given: options that several share, their checks, and configuration files."""
