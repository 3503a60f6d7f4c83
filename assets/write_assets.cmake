# Called at build time: writes OUTPUT, a source file that holds the bytes of every file of NAMES below FOLDER.
set(arrays "")
set(rows "")
set(index 0)
foreach(name IN LISTS NAMES)
  file(READ ${FOLDER}/${name} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "const unsigned char asset_${index}[] = {${bytes}0x00};\n")
  string(APPEND rows "    {\"${name}\", {reinterpret_cast<const char*>(asset_${index}), sizeof asset_${index} - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"core/base/assets.h\"
namespace headscope::detail {
namespace {
${arrays}const EmbeddedAsset rows[] = {
${rows}};
}
std::span<const EmbeddedAsset> embedded_assets() { return rows; }
}
")
