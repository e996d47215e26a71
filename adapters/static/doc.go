// Package static embeds text without a model server: a table of one vector per WordPiece token, distilled from
// all-MiniLM-L6-v2 and carried in the binary. A text's vector is the sum of its tokens' rows, scaled to length 1.
//
// It knows words but not their order, so it is a try-out, not a replacement of a sentence encoder: README.md beside
// this file gives its measured quality beside the real model's. demo/distill makes the table.
package static
