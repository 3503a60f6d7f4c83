#pragma once

#include "app/shell/program.h"
#include "tests/gui/support/driver.h"
#include "tests/gui/support/screen.h"

#include <optional>
#include <string>

namespace headscope::test {

using namespace headscope::app;

/// The whole program and its user.
struct User {
    explicit User(const std::string& preset = "first-lesson", const std::string& sentence = "",
                  float width = 1600, float height = 1000, float scale = 1,
                  const std::string& state_folder = "");
    explicit User(const Program::Options& options, float width = 1600, float height = 1000);

    /// Draws frames until the newest document is computed and drawn, and all motion has ended.
    void settle();
    /// Performs the action without the mouse, then settles.
    void act(const Action& action);
    /// Selects all of the sentence field, types over it, and presses Enter; settles.
    void type_sentence(const std::string& sentence);
    /// Types into the second sentence field, which exists with cross-attention, in the same way.
    void type_kv_sentence(const std::string& sentence);
    /// Types into any field in the same way.
    void type_over(const std::string& field, const std::string& text);
    /// Clicks the first reachable item with that label in a window whose name contains `window`. Returns true
    /// if there was one.
    bool click(const std::string& label, const std::string& window = "");

    /// Opens a file or a checkpoint folder as if given on the command line, with `text` as its prompt and
    /// `decoder_text` as the decoder's text. Waits until it is computed and drawn.
    void open(const std::string& path, const std::string& text = "",
              const std::optional<std::string>& decoder_text = {});
    /// Clicks the item that `label` names, and waits until the result is computed and drawn. Fails the test
    /// if there is no such item.
    void press(const std::string& label);

    void press_key(int key, int modifiers = 0); ///< settles

    /// Opens a drop-down of the toolbar and selects the row with that label.
    void choose(const std::string& caption, const std::string& row);

    const ViewState& view() const { return program.state().view; }
    const Shown& shown() const { return program.state().shown; }
    const Problem& problem() const { return program.state().document->problem; }

    Program program;
    Driver driver;
};

/// Returns everything that a click can change, as text: the view without motion and hover, the document,
/// popups.
std::string signature(const Program& program);
std::string signature(const ViewState& view);

/// Returns a trace of the problem, computed with only the engine of the program.
Trace computed(const Problem& problem);

/// Compares every number printed in a cell of the picture with the tensors of `trace` and `problem`, to the
/// printed digits. Fails the test if they differ; returns the number of compared numbers.
int check_printed_numbers(const Picture& picture, const Trace& trace, const Problem& problem);

/// Returns the middle of a cell of the canvas, in logical pixels of the window. Fails the test if the cell is
/// not there.
figure::Point middle_of(const Picture& canvas, const CellAddress& cell);

/// Returns `count` different words.
std::string words(int count);

} // namespace headscope::test
