// Package install holds install: the resource definitions and roles that the program comes with.
package install
