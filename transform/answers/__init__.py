"""Answers to the questions that people ask of the published file, with one module for each question.

The SQL is here. A command only reads its options, calls a module and prints the answer.
"""
