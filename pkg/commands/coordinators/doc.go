// Package coordinators holds the commands for coordinators and the connection string.
package coordinators
