// Package layout fits text to the width of a terminal: tables, lines, commands to copy. What has no
// width, such as a pipe or a file, gets everything on lines of any length. It knows nothing of what
// the text is about.
package layout
