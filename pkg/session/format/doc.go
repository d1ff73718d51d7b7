// Package format holds the output formats of commands: -o, columns and templates.
package format
