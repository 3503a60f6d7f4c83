#pragma once

#include "app/shell/handout/answer_key.h"
#include "core/lesson/lesson.h"
#include "core/manual/glossary.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The sections after the questions of a handout. Both are empty if they would have no entry.
std::string reading_html(const std::vector<lesson::Reference>& reading, const SpansToHtml& html);
/// The definitions of terms, in the order of their names. Links of the text lead here.
std::string glossary_html(std::vector<const manual::Term*> terms);

} // namespace headscope::app
