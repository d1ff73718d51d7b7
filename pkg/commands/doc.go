// Package commands makes the root command of its parts, one package per noun. Only main imports it.
package commands
