package commands

// version is set by the linker: -X .../pkg/commands.version=v1.2.3.
var version = "dev"
