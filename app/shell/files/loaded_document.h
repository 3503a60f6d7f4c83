#pragma once

#include "app/state/document.h"

#include <string>
#include <vector>

namespace headscope::app {

/// A document read from a file.
struct LoadedDocument {
    DocumentPtr document;
    std::string path, view; ///< the path for "Save"; the view, see project_view.h
    std::vector<std::string> notes;
};

} // namespace headscope::app
