// Package session is where a command meets the outside: streams, the flags of the connection, clients, permissions,
// names of resources, reading a cluster, and prompts. No package below it reads flags or the environment.
package session
