#pragma once

#include "core/project/recipe.h"

namespace headscope::test {

using namespace headscope::project;

/// Builds the problem of a recipe, its edits included.
inline Problem built(const Recipe& recipe) {
    return with_edits(build_recipe(recipe).problem, recipe);
}

} // namespace headscope::test
