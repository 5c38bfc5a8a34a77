"""The Streamlit page: reads the database, never writes it."""
