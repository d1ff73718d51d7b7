// Package why explains why a cluster does not match its spec, or its database is not healthy: chains from
// causes to effects, with the commands that resolve them.
package why
