// Package tools holds fdbcli, exec, schema, completion, and the generator of the pages of commands.
package tools
