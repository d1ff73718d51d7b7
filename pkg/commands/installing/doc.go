// Package installing holds install: the resource definitions and roles that the program comes with.
package installing
