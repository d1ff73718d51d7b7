// Package groups holds the commands for process groups: get, replace, restart, exclude, include and exclusion.
package groups
