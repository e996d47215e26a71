// Package demo carries the corpus of `georag demo`: 155 short passages on twelve topics, twelve
// questions with twenty sub-queries each, and their all-MiniLM-L6-v2 vectors, embedded in the
// binary so that the demonstration needs no network, no service and no file.
package demo

import "embed"

// Files holds the folder data, in the layout that every command of georag reads:
//
//   - data/passages.jsonl: one passage a line with id, title, text and topic
//   - data/passages.npy: float32, (155, 384), unit rows, row i belongs to line i
//   - data/questions.jsonl: id, dataset, type, question, answers, gold passage ids, sub-queries
//   - data/questions.npy: float32, (12, 384), unit rows
//   - data/subqueries.npy: float32, (12, 20, 384), unit rows
//
// README.md beside this file says how they were made.
//
//go:embed data/*.jsonl data/*.npy
var Files embed.FS
