#include "cli/app.hpp"

int main(int argc, char** argv) {
  return kw::run_app(argc, argv);
}
