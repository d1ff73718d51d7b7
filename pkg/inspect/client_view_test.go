package inspect
