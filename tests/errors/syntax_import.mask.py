import 3
