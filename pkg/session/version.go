package session

// Version is set by the linker: -X .../pkg/session.Version=v1.2.3.
var Version = "dev"
