"""Attention weights and the numbers of models, in scripts and notebooks.

    import headscope
    window = headscope.show(attention, tokens)         # a window with weights of NumPy, PyTorch or a model's output
    headscope.view(attention, tokens)                  # the same in a notebook, without the program
    model = headscope.Model("pocket")                  # a model without a window, read once
    run = model.run("The cat sat down")
    run.weights[0][3], run.logits, run.activation("layers.1.mlp_act")

Needs NumPy and the program headscope in PATH, or in the environment variable HEADSCOPE.
"""

from ._attention import View, view
from ._errors import Asked, HeadscopeError, NoProgram, ProgramEnded, Question, Refused
from ._model import Model
from ._results import Explanation, Generation, Heads, Patching, Run
from ._window import Window, show

__version__ = "0.1.0"
__all__ = ["Asked", "Explanation", "Generation", "Heads", "HeadscopeError", "Model", "NoProgram", "Patching", "ProgramEnded", "Question", "Refused", "Run",
           "View", "Window", "show", "view"]  # fmt: skip
