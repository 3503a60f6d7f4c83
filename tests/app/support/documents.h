#pragma once

#include "app/state/document.h"

namespace headscope::test {

using namespace headscope::app;

/// The document that the program opens with, as revision 1.
inline DocumentPtr first_lesson(project::MaskChoice mask = project::MaskChoice::none) {
    project::Recipe recipe;
    recipe.sentence = "The cat sat down";
    recipe.mask = mask;
    return make_document(recipe, 1);
}

} // namespace headscope::test
